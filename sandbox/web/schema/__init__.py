"""What the editors offer: the fields that the engine reads, made from its own tables, with a sentence for some."""
