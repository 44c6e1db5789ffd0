"""What several commands share: options, the cluster that they name, printing, errors."""
