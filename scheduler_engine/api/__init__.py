"""Typed views over manifests, quantities, selectors, taints and the table of kinds."""
