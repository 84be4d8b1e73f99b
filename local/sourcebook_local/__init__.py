"""The embedded cloud on this machine."""
