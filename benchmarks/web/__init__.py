"""Web parts that both apps share: fragments, permissions, downloads, the audit log."""
