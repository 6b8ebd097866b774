"""The command ``omd`` without its start: a process that has imported it forks for each call.

`Forked.folder` has a small program called omd. It gives its arguments, environment, streams and
working directory to the server, and ends as the fork does; signals go to the fork. What Python
reads when it starts can't be given: where that differs, the small program runs the real one.

The server has the modules of ``omd --version``, and the packages that OMD requires, which take most
of a start: no module of OMD is there because another command has needed it. So only modules of C
are imported here.
"""

# ruff: noqa: PTH104, PTH109, PTH120, PTH123, SIM115
import _signal
import _socket
import marshal
import os
import sys

# What Python and the system's libraries read once.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_")
PASSED_ON = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM)


def at_start(env):
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


# The small program ------------------------------------------------------------------------------


def call(folder, program):
    """Have the server run omd with what this process has; end as it ends."""
    with open(f"{folder}/environment", "rb") as file:
        expected = marshal.load(file)
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        if at_start(os.environ) != expected:
            raise OSError
        server.connect(f"{folder}/socket")
        here = os.getcwd()
    except OSError:
        os.execv(program, [program, *sys.argv[1:]])
    given = marshal.dumps((sys.argv[1:], dict(os.environ), here))
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
    server.sendmsg([len(given).to_bytes(4, "big")], rights)
    server.sendall(given)
    for number in PASSED_ON:
        _signal.signal(number, lambda number, _: server.send(bytes([number])))
    told = server.recv(4)
    code = int.from_bytes(told, "big", signed=True) if told else 70
    if code < 0:  # by a signal
        _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


# The server --------------------------------------------------------------------------------------


def serve(folder):
    """Fork for each call, until stdin is closed; return in each fork."""
    import select

    listening = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    listening.bind(f"{folder}/socket.new")
    listening.listen(64)
    with open(f"{folder}/environment", "wb") as file:
        marshal.dump(at_start(os.environ), file)
    os.rename(f"{folder}/socket.new", f"{folder}/socket")
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    callers = {}  # by the number of the fork
    while True:
        waits = [0, woken, listening.fileno(), *(c.fileno() for c in callers.values())]
        ready, _, _ = select.select(waits, [], [])
        if listening.fileno() in ready:
            number, _ = listening._accept()
            caller = _socket.socket(fileno=number)
            given = receive(caller)
            pid = os.fork()
            if pid == 0:
                _signal.set_wakeup_fd(-1)
                _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
                for other in (listening, caller, *callers.values()):
                    other.close()
                os.close(woken)
                os.close(wake)
                become(*given)
                return
            for stream in given[0]:
                os.close(stream)
            callers[pid] = caller
        for pid, caller in callers.items():
            if caller.fileno() in ready:
                signals = caller.recv(16) or bytes([_signal.SIGKILL])  # nobody waits for it
                for number in signals:
                    os.kill(pid, number)
        if woken in ready:
            os.read(woken, 1024)
            reap(callers)
        if 0 in ready:
            for pid in callers:
                os.kill(pid, _signal.SIGKILL)
            os._exit(0)


def receive(caller):
    """Return the streams, arguments, environment and working directory of a caller."""
    length, rights, _, _ = caller.recvmsg(4, _socket.CMSG_SPACE(12))
    (_, _, streams) = rights[0]
    numbers = [int.from_bytes(streams[at : at + 4], sys.byteorder) for at in (0, 4, 8)]
    given = b""
    while len(given) < int.from_bytes(length, "big"):
        given += caller.recv(1 << 20)
    return numbers, *marshal.loads(given)


def reap(callers):
    while callers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        caller = callers.pop(pid, None)
        if caller is not None:
            try:
                code = os.waitstatus_to_exitcode(status)
                caller.send(code.to_bytes(4, "big", signed=True))
            except OSError:
                pass  # it does not wait any more
            caller.close()


def become(streams, arguments, environment, folder):
    """Be what the caller would be, had it started omd itself."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number, inheritable=True)
        if stream > 2:
            os.close(stream)
    names = {0: ("stdin", "r"), 1: ("stdout", "w"), 2: ("stderr", "w")}
    for number, (name, mode) in names.items():
        before = getattr(sys, name)
        told = {"encoding": before.encoding, "errors": before.errors}
        stream = open(number, mode, closefd=False, **told)
        if number:
            stream.reconfigure(line_buffering=number == 2 or stream.isatty())
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[1:] = arguments
    os.environ.clear()
    os.environ.update(environment)
    __import__("time").tzset()
    os.chdir(folder)


if __name__ == "__main__":
    # As of the program: python, this file, the folder, the program omd.
    _, folder, program = sys.argv
    sys.path[0] = os.path.dirname(program)
    sys.argv = [program]
    import msgspec
    import psycopg
    import yaml

    from omd.programs.cli.main import main

    serve(folder)
    del folder, program, msgspec, psycopg, yaml
    sys.exit(main())
