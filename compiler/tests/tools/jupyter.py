"""Speaks Jupyter's protocol with the kernel that is installed, and prints what comes back."""

import sys
import time

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="vlad", startup_timeout=60)


def execute(code, interrupt=False):
    """What a cell brings, in one line for each message."""
    print(">", code.replace("\n", " | "))
    identity = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=60)
        kind, content = message["msg_type"], message["content"]
        if message["parent_header"].get("msg_id") != identity:
            continue
        if kind == "status" and content["execution_state"] == "idle":
            break
        if kind == "status" and interrupt:
            time.sleep(1)
            manager.interrupt_kernel()
        elif kind == "stream":
            print(content["name"], repr(content["text"]))
        elif kind == "execute_result":
            print("result", content["data"]["text/plain"])
        elif kind == "error":
            print("error", content["ename"], content["evalue"])
            print("  ", len(content["traceback"]) > 1)
        elif kind == "display_data":
            print("image", content["data"]["image/svg+xml"][:4])
    print("status", reply(identity)["status"])


def reply(identity):
    """What the kernel answers to a request, whatever it has answered to earlier ones."""
    while True:
        message = client.get_shell_msg(timeout=60)
        if message["parent_header"].get("msg_id") == identity:
            return message["content"]


def ask(what, *arguments):
    return reply(getattr(client, what)(*arguments))


try:
    execute("; Squares a number.\n(define (square x) (* x x))")
    execute('(write-string "so far\\n")\n((derivative square) 3)')
    execute("(square (unknown 2))")
    execute("(square 1 2)")
    execute("(begin (write-string \"before\") (newline) (car 5))")
    execute('(plot "curve.svg" (list "" "x" "y") (list (plot-line "" #(0 1 2) #(0 1 4))))')
    execute("(let loop ((i 0)) (loop (+ i 1)))", interrupt=True)
    execute("(square 4)")
    execute("")
    found = ask("complete", "(squ", 4)
    print("complete", found["matches"], found["cursor_start"], found["cursor_end"])
    for code in ["(square 2)", "(hypotenuse 2)", "(magnitude v)"]:
        found = ask("inspect", code, 3)
        print("inspect", found["found"], found["data"].get("text/plain", "").split("\n"))
    for code in ["(f 1", "(f 1)", "(f 1))", '"text', "", "#| comment"]:
        print("complete?", repr(code), ask("is_complete", code)["status"])
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=False)
print("alive", manager.is_alive())
sys.stdout.flush()
