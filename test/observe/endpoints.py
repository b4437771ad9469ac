"""What learners of a launched run answer over HTTP, with a token: endpoints.py STARLING."""
import http.client
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from patience import PATIENCE, expect as until
from ports import free_ports

TOKEN = '0123456789abcdef0123456789abcdef'
LEARNERS = 3
OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
BEARER = {'Authorization': f'Bearer {TOKEN}'}


def ask(port, path, headers=BEARER, method='GET'):
    """Return status, type and text of an answer; status 0: there is none."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers['Content-Type'], answer.read().decode()
    except OSError:
        return 0, None, ''
    finally:
        connection.close()


def records(port, enough, query=''):
    """Return the first records of the stream, as they were sent, until there are enough."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE)
    connection.request('GET', '/records' + query, headers=BEARER)
    answer = connection.getresponse()
    assert answer.headers['Content-Type'] == 'text/event-stream; charset=utf-8'
    found = []
    while not enough(found):
        line = answer.readline().decode()
        assert line, found
        if line.startswith('data: '):
            found.append(line.removeprefix('data: '))
    connection.close()
    return found


def expect(got, status, kind=None, part=''):
    assert got[0] == status and (kind is None or got[1] == kind) and part in got[2], (got, status, kind, part)


def check(run, port):
    expect(ask(port, '/metrics', {}), 401)
    expect(ask(port, '/healthz?token=' + TOKEN, {}), 200, 'text/plain; charset=utf-8', 'round ')
    expect(ask(port, '/metrics', {**BEARER, 'Accept': OPENMETRICS}), 200, OPENMETRICS, '\n# EOF\n')
    expect(ask(port, '/metrics'), 200, 'text/plain; version=0.0.4; charset=utf-8', f'starling_roster_learners{{learner="learner-01"}} {LEARNERS}\n')
    expect(ask(port, '/metrics', method='HEAD'), 200)
    expect(ask(port, '/metrics', method='POST'), 405)
    expect(ask(port, '/'), 404, 'text/plain; charset=utf-8', 'starling watch')
    last = records(port, lambda found: len(found) == 20)
    again = records(port, lambda found: last[-1] in found or len(found) == 5000, '?recent=1')
    assert again[-20:] == last and len(again) > 20, 'the last records are not sent again'
    for record in last:
        assert json.loads(record)['learner'] == 1
        assert record in (run / 'learner-01' / 'log.jsonl').read_text()
    targets = [line.split()[-1] for line in (run / 'prometheus.yaml').read_text().splitlines() if '127.0.0.1' in line and '- ' in line]
    assert targets == [f'127.0.0.1:{port + i}' for i in range(LEARNERS)], targets


def main(starling):
    port = free_ports(LEARNERS)[0]
    with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
        token, run = Path(folder) / 'token', Path(folder) / 'run'
        token.touch(0o600)
        token.write_text(TOKEN + '\n')
        command = [starling, 'launch', '-n', str(LEARNERS), '--rounds', '1000000', '--http', str(port), '--run-dir', str(run),
                   '--set', 'hidden_units=1', '--set', f'http_token_file={token}']
        launcher = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            until('the learners answer', lambda: launcher.poll() is not None or all(ask(port + i, '/healthz')[0] == 200 for i in range(LEARNERS)))
            assert launcher.poll() is None
            check(run, port)
            assert f'credentials_file: "{token}"\n' in (run / 'prometheus.yaml').read_text()
            busy = subprocess.run([*command[:-6], '--run-dir', str(run) + '2'], capture_output=True, text=True, timeout=PATIENCE)
            assert busy.returncode == 2 and f'--http {port}: port {port} is in use by another program' in busy.stderr, busy
        finally:
            launcher.send_signal(signal.SIGINT)
            launcher.wait(PATIENCE)


main(*sys.argv[1:])
