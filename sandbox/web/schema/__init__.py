"""The schema for completion in editors: the fields that the engine reads, from its own tables, with help for some."""
