"""The scheduling framework: stages, statuses, cycle state, NodeInfo and the recording runtime."""
