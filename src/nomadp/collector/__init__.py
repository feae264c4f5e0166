"""The collector: the server that stores and counts reports and answers analysts' queries.

It needs the extra ``collector``. It trusts no request, and it stores nothing that identifies a
sender: no address, no user agent, and no time more precise than the task's epoch.
"""

__all__: list[str] = []
