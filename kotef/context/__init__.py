"""The context of a model call: prompts, the repository map, skills and compaction."""
