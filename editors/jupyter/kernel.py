"""The kernel of VLAD for Jupyter.

Jupyter starts it by `vlad jupyter run`. It hands cells to `vlad jupyter serve`, which evaluates them as `vlad repl` does,
and shows what comes of them: what the cell prints, the value of its last expression, plots, messages.
"""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading

try:
    from ipykernel.kernelapp import IPKernelApp
    from ipykernel.kernelbase import Kernel
except ImportError:
    sys.exit(f"error: `{sys.executable}` does not have the package ipykernel\n"
             f"help: {sys.executable} -m pip install ipykernel")

COMMAND = os.environ.get("VLAD_KERNEL_COMMAND", "vlad")
MARK = b"\x02vlad\x03"
NAME = re.compile(r"[^\s()\[\]'\"`;,]*")
HEADLINE = re.compile(r"error\[(V\d+)\]: (.*)")
COLORS = re.compile(r"\x1b\[[0-9;]*m")


def name_around(code, place):
    """Where the name begins that ends at a place or goes on there, and the name."""
    start = max(place, 0)
    while start > 0 and NAME.fullmatch(code[start - 1]):
        start -= 1
    return start, NAME.match(code, start).group()


class Ended(Exception):
    """The session is not there any more."""


class Session:
    """A running `vlad jupyter serve`."""

    def __init__(self):
        # Interruptions are for the kernel, which hands them on.
        self.process = subprocess.Popen(
            [COMMAND, "jupyter", "serve", "--color", "always"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def interrupt(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def ask(self, request, on_output=lambda text: None):
        """The answer to a request, and the messages; what is printed before is handed on in whole lines."""
        messages = []
        reader = threading.Thread(target=lambda: messages.append(self.until_mark(self.process.stderr)))
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            reader.start()
            self.until_mark(self.process.stdout, on_output)
            answer = self.process.stdout.readline()
            reader.join()
        except BrokenPipeError:
            answer = b""
        if not answer:
            self.process.wait()
            raise Ended("".join(messages))
        return json.loads(answer), "".join(messages)

    @staticmethod
    def until_mark(stream, on_output=None):
        """What stands in front of the mark, all of it or what has not been handed on."""
        text = b""
        while not text.endswith(MARK):
            byte = stream.read1(1) if on_output is None else stream.read(1)
            if not byte:
                break
            text += byte
            if on_output is not None and byte == b"\n":
                on_output(text.decode(errors="replace"))
                text = b""
        text = text.removesuffix(MARK).decode(errors="replace")
        if on_output is not None and text:
            on_output(text)
        return text


class VladKernel(Kernel):
    implementation = "vlad"
    implementation_version = "0.1.0"
    banner = "VLAD: derivatives are functions like any other."
    language_info = {
        "name": "vlad",
        "mimetype": "text/x-scheme",
        "codemirror_mode": "scheme",
        "pygments_lexer": "scheme",
        "file_extension": ".vlad",
    }

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.vlad = Session()

    def request(self, request, on_output=lambda text: None):
        """Asks the session. While it works, an interruption is handed on to it."""
        outcome, printed = [], queue.Queue()

        def ask():
            try:
                outcome.append(self.vlad.ask(request, printed.put))
            except Exception as error:
                outcome.append(error)

        worker = threading.Thread(target=ask)
        worker.start()
        while worker.is_alive() or not printed.empty():
            try:
                on_output(printed.get(timeout=0.05))
            except queue.Empty:
                pass
            except KeyboardInterrupt:
                self.vlad.interrupt()
        if isinstance(outcome[0], Exception):
            if isinstance(outcome[0], Ended):
                self.vlad = Session()
            raise outcome[0]
        return outcome[0]

    def show(self, kind, content):
        self.send_response(self.iopub_socket, kind, content)

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        ok = {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        if not code.strip():
            return ok
        lines = []

        def on_output(text):
            # The last line may be the value of the cell.
            lines.append(text)
            if len(lines) > 1 and not silent:
                self.show("stream", {"name": "stdout", "text": lines.pop(0)})

        try:
            answer, messages = self.request({"execute": code}, on_output)
        except Ended as error:
            answer = {"status": "error", "has_value": False, "files": []}
            messages = f"{error}error: the session has ended; its definitions are gone\n"
        last = lines[-1] if lines else ""
        if not silent:
            value = last.rstrip("\n") if answer["has_value"] and answer["status"] == "ok" else None
            if value is None and last:
                self.show("stream", {"name": "stdout", "text": last})
            for file in answer["files"]:
                self.show_file(file)
            if value not in (None, "", "()"):
                self.show("execute_result", {
                    "execution_count": self.execution_count, "data": {"text/plain": value}, "metadata": {}})
        if answer["status"] == "ok":
            if messages and not silent:
                self.show("stream", {"name": "stderr", "text": messages})
            return ok
        found = HEADLINE.search(COLORS.sub("", messages))
        name, text = found.groups() if found else ("error", COLORS.sub("", messages).strip())
        error = {"ename": name, "evalue": text, "traceback": messages.rstrip("\n").split("\n")}
        if not silent:
            self.show("error", error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def show_file(self, file):
        """Shows an image that the cell has written."""
        if not file.endswith(".svg"):
            return
        try:
            with open(file, encoding="utf-8") as image:
                data = {"image/svg+xml": image.read(), "text/plain": file}
        except OSError:
            return
        self.show("display_data", {"data": data, "metadata": {}})

    def do_complete(self, code, cursor_pos):
        start, _ = name_around(code, cursor_pos)
        answer, _ = self.request({"complete": code[start:cursor_pos]})
        return {"status": "ok", "matches": answer["names"], "cursor_start": start, "cursor_end": cursor_pos,
                "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        _, name = name_around(code, cursor_pos)
        if not name:
            # Behind a bracket or a space, the function that is being called.
            called = re.findall(r"[(\[]\s*([^\s()\[\]'\"`;,]+)", code[:cursor_pos])
            name = called[-1] if called else ""
        answer, _ = self.request({"inspect": name})
        text = answer["text"]
        return {"status": "ok", "found": text is not None, "data": {"text/plain": text} if text else {},
                "metadata": {}}

    def do_is_complete(self, code):
        answer, _ = self.request({"is_complete": code})
        return {"status": answer["status"], "indent": "  "}

    def do_shutdown(self, restart):
        self.vlad.process.kill()
        self.vlad.process.wait()
        return {"status": "ok", "restart": restart}


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=VladKernel)
