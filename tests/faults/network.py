"""A network that can hang: a process that forwards all bytes from one Unix socket to another.

Run: ``python tests/faults/network.py LISTEN TARGET``. SIGSTOP lets it hang. Who connects while
there is no server is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def main(listen: str, target: str) -> None:
    """Forward until it is killed."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server_reader, server_writer = await asyncio.open_unix_connection(target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_forward(reader, server_writer), _forward(server_reader, writer))

    server = await asyncio.start_unix_server(accept, listen)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
