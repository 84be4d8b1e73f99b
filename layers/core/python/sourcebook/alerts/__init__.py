"""Alerts: rules, what they fire for, and its delivery by webhook, by mail and on the bus."""
