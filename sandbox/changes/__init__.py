"""All ways to change a sandbox: commands, going back, branches, forks, study, expectations."""
