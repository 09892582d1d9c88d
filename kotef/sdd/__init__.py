"""The specification in `.sdd`: tickets, agents, memory and the issue log."""
