"""What both apps share on the web: fragments, permissions, downloads, the audit log."""
