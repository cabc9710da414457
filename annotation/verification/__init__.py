"""Verification of key points by people."""
