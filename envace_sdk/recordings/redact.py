"""Redaction as recordings do it: the same text stands for every secret, and answers stay valid."""

from envace_sdk.redaction import REDACTED, Redact, SecretRedactor, no_redaction

__all__ = ["REDACTED", "Redact", "SecretRedactor", "no_redaction"]
