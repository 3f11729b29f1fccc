"""What one visitor may use: quotas, rates, a fair share of the processor, addresses, limits of the server."""
