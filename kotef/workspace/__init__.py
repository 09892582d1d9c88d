"""The workspace: snapshots, restoration and the lock."""
