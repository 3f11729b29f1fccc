"""The scheduling framework: stages, statuses, cycle state, NodeInfo and the runtime that records."""
