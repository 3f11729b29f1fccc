"""The scheduler cache: NodeInfos, recency list, nodeTree and snapshot."""
