"""Leader election between scheduler replicas. Source: seed 003; upstream ``client-go/tools/leaderelection``."""
