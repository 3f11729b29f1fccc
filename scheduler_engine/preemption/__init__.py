"""The preemption evaluator: dry runs, reprieves and the ladder of criteria."""
