"""The plugins of the default profile, one file each."""
