"""Hypothesis on a busy machine: no deadlines and no complaints about time; nothing here is timed.

Loaded by the `conftest.py` of every folder that uses it.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "calm", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("calm")
