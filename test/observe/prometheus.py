"""Prometheus scrapes a launched cluster; one learner is stopped: the alerts fire, and end when it goes on.

prometheus.py STARLING ALERTS. Skipped where Debian's package prometheus is not installed."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from patience import PATIENCE, expect
from ports import free_ports

LEARNERS = 4
# The learners of the run commit rounds until they are told to end, and wait no longer than a second for anything.
SETTINGS = ['hidden_units=1', 'epochs=1', 'quorum=all', 'straggler_timeout=1', 'stall_timeout=1']


def ask(port, path):
    """Return status and text of http://127.0.0.1:PORT/PATH; status 0: no answer."""
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}/{path}', timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ''


def api(port, path):
    status, text = ask(port, 'api/v1/' + path)
    return json.loads(text)['data'] if status == 200 else {}


def firing(port):
    """Return {(alert, learner or instance)} of all alerts that fire."""
    found = set()
    for alert in api(port, 'alerts').get('alerts', []):
        labels = alert['labels']
        if alert['state'] == 'firing':
            found.add((labels['alertname'], labels.get('learner', labels['instance'])))
    return found


def scrape(folder, alerts, ports):
    """Start Prometheus on the configuration that the launcher wrote, with quick alerts."""
    rules = re.sub(r'for: \S+', 'for: 1s', Path(alerts).read_text())
    (folder / 'alerts.yaml').write_text(rules)
    config = (folder / 'run' / 'prometheus.yaml').read_text().replace('interval: 5s', 'interval: 1s')
    (folder / 'prometheus.yaml').write_text(config + 'rule_files: [alerts.yaml]\n')
    return subprocess.Popen(['prometheus', '--config.file', folder / 'prometheus.yaml', '--storage.tsdb.path', folder / 'data',
        f'--web.listen-address=127.0.0.1:{ports}'], stdout=(folder / 'prometheus.log').open('w'), stderr=subprocess.STDOUT)


def look(folder, first, prometheus):
    """Expect all learners in Prometheus, stop the second, expect its alert and those of the learners that wait for it."""
    instances = [f'127.0.0.1:{first + i}' for i in range(LEARNERS)]
    names = [f'learner-{i + 1:02}' for i in range(LEARNERS)]
    expect('all targets are up', lambda: sorted(t['scrapeUrl'] for t in api(prometheus, 'targets').get('activeTargets', [])
        if t['health'] == 'up') == sorted(f'http://{i}/metrics' for i in instances))
    expect('rounds are counted', lambda: {r['metric']['learner'] for r in api(prometheus, 'query?query=starling_rounds_committed_total>1')
        .get('result', [])} == set(names))
    expect('no alert', lambda: not firing(prometheus))
    pid = int((folder / 'run' / names[1] / 'pid').read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        expect('the alert of the learner that is stopped', lambda: ('StarlingLearnerDown', instances[1]) in firing(prometheus))
        waiting = expect('a learner says that it waits', lambda: next((text for status, text in (ask(first + i, 'healthz') for i in (0, 2, 3))
            if status == 503 and 'beyond its deadline' in text), None))
        print(waiting, end='')
        expect('the alert of learners that wait', lambda: any(alert == 'StarlingOverdue' for alert, _ in firing(prometheus)))
    finally:
        os.kill(pid, signal.SIGCONT)
    expect('all are healthy again', lambda: all(ask(first + i, 'healthz')[0] == 200 for i in range(LEARNERS)))
    expect('the alerts end', lambda: not firing(prometheus))


def main(starling, alerts):
    if shutil.which('prometheus') is None:
        print('prometheus is not installed (apt-get install prometheus)')
        return 77
    folder = Path(tempfile.mkdtemp(prefix='starling-test-'))
    first = free_ports(LEARNERS + 1)[0]
    settings = [word for setting in SETTINGS for word in ('--set', setting)]
    started = [subprocess.Popen([starling, 'launch', '-n', str(LEARNERS), '--rounds', '1000000', '--http', str(first), '--run-dir', folder / 'run',
        '--topology', 'complete', *settings], stdout=(folder / 'launch.log').open('w'), stderr=subprocess.STDOUT)]
    try:
        expect('the learners answer', lambda: all(ask(first + i, 'healthz')[0] == 200 for i in range(LEARNERS)))
        started.append(scrape(folder, alerts, first + LEARNERS))
        look(folder, first, first + LEARNERS)
    except BaseException:
        print(f'see {folder}')
        raise
    finally:
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            process.wait(PATIENCE)
    shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
