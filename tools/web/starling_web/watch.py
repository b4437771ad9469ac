"""The command `starling watch`: the live page of a run folder, or of learners that are asked over HTTP."""
from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from typing import Union

from starling_timeline.command import Parser, guard
from starling_timeline.logs import Logs
from starling_timeline.timeline import Timeline

from starling_web import report
from starling_web.follow import Follow
from starling_web.live import Live
from starling_web.server import read_token
from starling_web.sources import Files

LAST_BYTES = 4 << 20  # of the ends of long logs, which the page shows first
AFTER_S, AFTER_LOOKS = 0.05, 60  # between two looks whether the last events are read
ABOUT = """Serve a page that shows the rounds of a run as they happen: the graph, which learners are awaited, loss, and whether
all have the same model. It reads the logs of a run folder, also of a run that has ended, or asks learners with the setting http
for their log records. Ctrl-C ends it."""
HELP = """Examples:
  starling watch RUNFOLDER
  starling watch RUNFOLDER --listen 127.0.0.1:8470
  starling watch RUNFOLDER --listen 0.0.0.0:8470 --token-file token
  starling launch --web                 # a run with its page
  starling watch http://127.0.0.1:9101 http://127.0.0.1:9102
  starling watch --token-file token http://ana:9464 http://ben:9464

An address that other machines can reach, of the page or of a learner, needs a
token; the page is then at http://HOST:PORT/?token=TOKEN."""


def is_address(text: str) -> bool:
    """Return true if `text` is meant as the address of a learner."""
    return "://" in text or (":" in text and not os.path.exists(text))


def watch_for_end(launched: bool) -> asyncio.Future[None]:
    """Return what is done at the end of standard input, which is that of the launcher; without one, at Ctrl-C."""
    loop = asyncio.get_running_loop()
    end = loop.create_future()

    def at_end() -> None:
        if not end.done():
            end.set_result(None)

    def on_input() -> None:
        if not os.read(0, 64):
            loop.remove_reader(0)
            at_end()
    if launched:
        loop.add_reader(0, on_input)
    else:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, at_end)
    return end


async def serve(options: argparse.Namespace) -> int:
    ending = watch_for_end(options.launched)
    token = None if options.token_file is None else read_token(options.token_file)
    timeline, folder, tasks = Timeline(), options.places[0], []
    source: Union[Files, Follow]
    if is_address(folder):
        source = Follow(options.places, token, timeline.take)
        await source.settle()
        tasks += source.tasks
    else:
        report.name_run(timeline, folder)
        source = Files(Logs([folder], follow=True, empty=options.launched, last=LAST_BYTES))
    live = Live(options.listen, token, timeline, source)
    print(f"{live.server.url}/{'' if token is None else '?token=TOKEN'}", flush=True)
    tasks += [ending, asyncio.ensure_future(live.server.accept()), asyncio.ensure_future(live.run(ending))]
    for task in (await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))[0]:
        task.result()  # or its error
    if options.launched:  # show the end of the run, and write its report
        await tasks[-1]
        await asyncio.sleep(AFTER_S)
        report.write(timeline, source, folder) if live.has_all() else report.write_anew(folder)
        for _ in range(AFTER_LOOKS):
            if live.server.streams:
                await asyncio.sleep(AFTER_S)
    return 0


async def run(options: argparse.Namespace) -> int:
    try:
        return await serve(options)
    finally:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:  # again, since wait_for() may lose a cancellation
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=0.1)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = Parser("starling watch", "RUNFOLDER|URL...", ABOUT, HELP)
    parser.add_argument("places", metavar="RUNFOLDER|URL", nargs="*", help="folder of the run, or addresses of learners")
    parser.add_argument("-l", "--listen", metavar="HOST:PORT", default="127.0.0.1:0",
                        help="address of the page (127.0.0.1:0; port 0: any that is free)")
    parser.add_argument("--token-file", metavar="FILE", help="file with the token that the learners ask for; the page then asks for it too")
    parser.add_argument("--launched", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args(arguments)
    if not options.places:
        parser.error("give the run folder, or the addresses of learners")
    wrong = [place for place in options.places if not is_address(place)]
    if wrong and len(options.places) > 1:
        parser.error(f"give one run folder, or addresses of learners such as http://127.0.0.1:9101; '{wrong[0]}' is not an address")
    for number in (signal.SIGINT, signal.SIGTERM):  # a launched page ends with its launcher
        signal.signal(number, signal.SIG_IGN if options.launched else signal.SIG_DFL)
    return guard("starling watch", lambda: asyncio.run(run(options)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
