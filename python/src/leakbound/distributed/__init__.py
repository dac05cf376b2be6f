"""Simulations and audits on the cluster that is there: Dask or Ray.

A simulation is cut into ranges of blocks, an audit into subsets of its queries. Counts are a function of scenario,
seed and block, and bounds of recording, seed and query: neither the number of tasks nor a worker that is lost half-way
changes a digit.
"""

from leakbound.distributed._queries import QueriesAudit, audit_queries
from leakbound.distributed._shards import simulate

__all__ = ["QueriesAudit", "audit_queries", "simulate"]
