"""Controls for a KubeSchedulerConfiguration: what they show, and what each changes in the manifest."""
