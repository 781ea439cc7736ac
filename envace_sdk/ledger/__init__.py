"""The append-only, hash-chained audit trail of evidence and decisions."""
