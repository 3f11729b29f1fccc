"""The parts of kube-controller-manager that the scheduler can notice: one module per controller."""
