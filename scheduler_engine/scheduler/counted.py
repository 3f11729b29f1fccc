"""Names of metrics that the scheduler counts itself, because no trace shows what they count.

Source: upstream ``metrics/metrics.go``, ``framework/runtime/batch.go`` and ``schedule_one.go``.
"""

AFTER_FLUSH = "pod_scheduled_after_flush_total"
BATCH_ATTEMPTS = "batch_attempts_total"
BATCH_FLUSHED = "batch_cache_flushed_total"
