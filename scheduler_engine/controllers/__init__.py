"""What kube-controller-manager does, as far as the scheduler can see it: one module per controller."""
