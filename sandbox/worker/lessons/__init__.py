"""The lesson in a sandbox: the data of its panel, sentences for the reasons behind answers, and its Markdown."""
