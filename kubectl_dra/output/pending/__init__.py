"""The words of why-pending: one pod, one claim, everything that hangs. Reports decide, these modules only say it."""
