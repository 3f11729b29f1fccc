"""What is installed: lessons, misconceptions, challenges, scenarios; and those that people bring."""
