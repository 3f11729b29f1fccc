"""Changing a KubeSchedulerConfiguration by controls: what they show, and what each of them changes in the manifest."""
