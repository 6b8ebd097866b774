// What the page does in the browser: it opens the stream while somebody looks, writes instants in
// the browser's zone, counts what runs, marks what changed, and knows keys. Without it the page is
// complete, and not live.
'use strict';
(() => {
    const body = document.body;
    const root = document.documentElement;
    const one = (selector, from = document) => from.querySelector(selector);
    const all = (selector, from = document) => [...from.querySelectorAll(selector)];

    // Instants and running times ---------------------------------------------------------------

    const two = (number) => String(number).padStart(2, '0');
    const dateOf = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const timeOf = (at) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;

    // An instant keeps its form: with a date or without, with seconds or without.
    const FORM = /^(\d{4,}-\d\d-\d\d )?\d\d:\d\d(:\d\d)?$/;

    function localText(text, at) {
        const form = FORM.exec(text);
        if (!form || isNaN(at)) return text;
        const time = form[2] ? timeOf(at) : timeOf(at).slice(0, 5);
        return form[1] ? `${dateOf(at)} ${time}` : time;
    }

    // The clock of the browser may be wrong; the page says when it was made.
    const ahead = body.dataset.now ? Date.now() - Date.parse(body.dataset.now) : 0;

    function lasted(since) {
        const all = Math.max(0, Math.floor((Date.now() - ahead - Date.parse(since)) / 1000));
        const days = Math.floor(all / 86400);
        const hours = Math.floor(all / 3600) % 24;
        const clock = `${hours}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
        return days ? `${days} ${days === 1 ? 'day' : 'days'}, ${clock}` : clock;
    }

    function write(node, text) {
        if (node.textContent !== text) node.textContent = text;
    }

    function localise(from) {
        for (const time of all('time[datetime]', from)) {
            if (time.dataset.since) write(time, lasted(time.dataset.since));
            else write(time, localText(time.textContent, new Date(time.dateTime)));
        }
    }

    function count() {
        // What is not live may have ended: its times stand still, as the picture does.
        if (stream && body.dataset.live !== 'on') return;
        for (const time of all('time[data-since]')) write(time, lasted(time.dataset.since));
    }

    // Live, paused or off ----------------------------------------------------------------------

    const stream = one('[hx-sse\\:connect]');
    const shown = one('span.live');
    const pauseButton = one('button.pause');
    let isWanted = false; // whether the stream is to be open
    let connection = null; // of hx-sse
    let request = null; // that opens it
    let lastId = ''; // what the tab has
    let heard = Date.now(); // when something came last
    let retry = null;

    function pausedSince() {
        try {
            return sessionStorage.getItem('omd.paused');
        } catch {
            return null; // a browser may forbid to keep anything
        }
    }

    function say(state, since) {
        const words = {on: 'live', paused: 'paused since ', off: 'not live since '}[state];
        body.dataset.live = state;
        if (shown) write(shown, state === 'on' ? words : words + timeOf(new Date(since)));
        if (pauseButton) {
            write(pauseButton, state === 'paused' ? 'Resume' : 'Pause');
            pauseButton.setAttribute('aria-pressed', String(state === 'paused'));
        }
    }

    function sayOff() {
        if (!pausedSince() && (body.dataset.live === 'on' || !shown?.textContent)) say('off', heard);
    }

    function adjust() {
        clearTimeout(retry);
        const since = pausedSince();
        isWanted = !since && !document.hidden && document.visibilityState === 'visible';
        if (since) say('paused', since);
        else if (body.dataset.live === 'paused') say('off', since || heard);
        if (isWanted) {
            open();
        } else {
            close();
            sayOff();
        }
    }

    function open() {
        clearTimeout(retry);
        if (!stream || request || stream._htmx?.sse) return;
        // hx-sse would do it at omd:live, if htmx had not taken up the page before it was loaded.
        htmx.ajax('GET', stream.getAttribute('hx-sse:connect'), {source: stream});
    }

    function close() {
        request?.abort();
        connection?.reader?.cancel();
        connection?.abortController?.abort();
    }

    function openLater() {
        clearTimeout(retry);
        if (isWanted) retry = setTimeout(open, 1000 + Math.random() * 1000);
    }

    function pause() {
        try {
            if (pausedSince()) sessionStorage.removeItem('omd.paused');
            else sessionStorage.setItem('omd.paused', new Date().toISOString());
        } catch {
            return;
        }
        adjust();
    }

    function listen() {
        stream.addEventListener('htmx:config:request', (event) => {
            request = event.detail.ctx.request;
            if (lastId) request.headers['Last-Event-ID'] = lastId;
        });
        stream.addEventListener('htmx:before:response', (event) => {
            const answer = event.detail.ctx.response;
            const type = answer.headers.get('Content-Type') || '';
            if (answer.status === 200 && type.startsWith('text/event-stream')) return;
            event.preventDefault(); // an error, or a page to log in: it is not swapped
            sayOff();
        });
        stream.addEventListener('htmx:finally:request', () => {
            request = null;
            if (!stream._htmx?.sse) openLater();
        });
        stream.addEventListener('htmx:sse:before:connection', (event) => {
            connection = event.detail.connection;
            if (!isWanted) event.preventDefault();
            else if (connection.attempt) sayOff();
        });
        stream.addEventListener('htmx:sse:after:connection', (event) => {
            connection = event.detail.connection;
            heard = Date.now();
            if (!isWanted) close();
        });
        stream.addEventListener('htmx:sse:before:message', (event) => {
            heard = Date.now();
            if (!isWanted) event.preventDefault();
            else if (event.detail.message.id) lastId = event.detail.message.id;
        });
        stream.addEventListener('htmx:sse:error', sayOff);
        stream.addEventListener('htmx:sse:close', () => {
            connection = null;
            sayOff();
            openLater();
        });
        stream.addEventListener('on', () => isWanted && say('on'));
        stream.addEventListener('off', sayOff);
        stream.addEventListener('end', () => location.reload());
        stream.addEventListener('htmx:before:swap', (event) => prepare(event.detail.tasks));
        stream.addEventListener('htmx:after:swap', (event) => mark(event.detail.tasks));
        document.addEventListener('visibilitychange', adjust);
        addEventListener('pageshow', (event) => event.persisted && adjust());
        // A connection may be dead without an end; the page says something every five seconds.
        setInterval(() => {
            if (isWanted && Date.now() - heard > 15000 && body.dataset.live === 'on') {
                sayOff();
                connection?.reader?.cancel(); // hx-sse opens it anew
            }
        }, 1000);
        if (pauseButton) {
            pauseButton.addEventListener('click', pause);
            pauseButton.hidden = false;
        }
    }

    // What changed -----------------------------------------------------------------------------

    const had = new Map(); // section → row → its markup, as the server sent it
    let marks = [];
    let news = new Map(); // heading → rows
    let announced = 0;
    let announcement = null;

    const keyOf = (row) => row.id || row.dataset.key;

    function rowsOf(section) {
        const rows = new Map();
        for (const row of all('tr[data-key]', section)) rows.set(keyOf(row), row.outerHTML);
        return rows;
    }

    function prepare(tasks) {
        marks = [];
        for (const {fragment} of tasks) {
            for (const section of all('section[id]', fragment)) {
                const before = had.get(section.id);
                const rows = rowsOf(section);
                had.set(section.id, rows);
                if (!before) continue;
                const changed = [...rows].filter(([key, html]) => before.get(key) !== html);
                if (changed.length) marks.push([section.id, changed.map(([key]) => key)]);
            }
            localise(fragment);
        }
    }

    function mark() {
        for (const [id, keys] of marks) {
            const section = document.getElementById(id);
            if (!section) continue;
            const rows = new Map(all('tr[data-key]', section).map((row) => [keyOf(row), row]));
            for (const key of keys) {
                const row = rows.get(key);
                if (!row) continue;
                row.setAttribute('data-changed', '');
                clearTimeout(row.omdUnmark);
                row.omdUnmark = setTimeout(() => row.removeAttribute('data-changed'), 2000);
            }
            const heading = one('h2', section)?.textContent || id;
            news.set(heading, keys.length);
        }
        if (news.size && !announcement) {
            const wait = Math.max(0, announced + 5000 - Date.now());
            announcement = setTimeout(announce, wait);
        }
        marks = [];
    }

    function announce() {
        const said = one('#said');
        const parts = [...news].map(([heading, n]) => `${heading}: ${n} ${n === 1 ? 'row' : 'rows'}`);
        if (said) write(said, `Changed: ${parts.join(', ')}`);
        announced = Date.now();
        announcement = null;
        news = new Map();
    }

    // Keys -------------------------------------------------------------------------------------

    const keep = {
        get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
        set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* forbidden */ } },
    };
    let isGoing = 0; // until when a letter names a screen

    const reached = 'a[href], button, input, select, textarea, summary';

    function step(by) {
        const rows = all('main tr[data-key]').filter((row) => row.getClientRects().length);
        if (!rows.length) return;
        const now = rows.indexOf(document.activeElement?.closest('tr[data-key]'));
        const row = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1)
            : Math.min(rows.length - 1, Math.max(0, now + by))];
        let goal = one('a[href]', row) || one(reached, row);
        if (!goal) {
            goal = row;
            row.tabIndex = -1;
        }
        goal.focus();
        row.scrollIntoView({block: 'nearest'});
    }

    function act() {
        const row = document.activeElement?.closest('tr[data-key]');
        const goal = (row && one('[data-action]', row)) || one('main .actions [data-action]');
        goal?.focus();
    }

    function screens() {
        const found = new Map();
        for (const link of all('[aria-keyshortcuts^="g "]')) {
            found.set(link.getAttribute('aria-keyshortcuts').slice(2), link);
        }
        return found;
    }

    function make(tag, attributes, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.append(...children);
        return element;
    }

    function help() {
        let dialog = one('dialog#keys');
        if (!dialog) {
            const keys = [
                ['/', 'Search'], ['j, k', 'Next and previous row'], ['Enter', 'Open it'],
                ['a', 'Actions'], ['p', 'Pause and resume'], ['?', 'Keys'], ['Esc', 'Close'],
                ...[...screens()].map(([key, link]) => [`g ${key}`, link.textContent.trim()]),
            ];
            const off = make('input', {type: 'checkbox', id: 'keys-on'});
            off.checked = keep.get('omd.keys') !== 'off';
            off.addEventListener('change', () => keep.set('omd.keys', off.checked ? 'on' : 'off'));
            dialog = make('dialog', {id: 'keys', 'aria-labelledby': 'keys-title'},
                make('h2', {id: 'keys-title'}, 'Keys'),
                make('dl', {}, ...keys.map(([key, does]) =>
                    make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, does)))),
                make('label', {for: 'keys-on'}, off, ' Keys of one letter are on'),
                make('form', {method: 'dialog'}, make('button', {class: 'quiet'}, 'Close')));
            body.append(dialog);
        }
        if (!dialog.open) dialog.showModal();
    }

    const does = {
        '/': () => { const search = one('input[type=search][name=q]'); search?.focus(); search?.select(); },
        'g': () => { isGoing = Date.now() + 1500; },
        'j': () => step(1),
        'k': () => step(-1),
        'a': act,
        'p': () => stream && pause(),
        '?': help,
    };

    function press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
        const at = event.target;
        if (event.key === 'Escape') {
            if (at.matches?.('input, textarea, select')) at.blur();
            return;
        }
        const isTyped = at.isContentEditable || (at.matches?.('input, textarea, select')
            && !at.matches('[type=checkbox], [type=radio], [type=button], [type=submit]'));
        if (isTyped || at.closest?.('dialog') || keep.get('omd.keys') === 'off') return;
        const wasGoing = Date.now() < isGoing;
        isGoing = 0;
        const link = wasGoing && screens().get(event.key);
        const work = link ? () => link.click() : does[event.key];
        if (!work) return;
        event.preventDefault();
        work();
    }

    // Light or dark ----------------------------------------------------------------------------

    function switchScheme() {
        const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
        const now = root.dataset.scheme || (isDark ? 'dark' : 'light');
        const next = now === 'dark' ? 'light' : 'dark';
        const isSystem = (next === 'dark') === isDark;
        if (isSystem) delete root.dataset.scheme;
        else root.dataset.scheme = next;
        // The server writes it into the next page, which then does not flash.
        const path = body.dataset.prefix || '/';
        document.cookie = `omd_scheme=${isSystem ? '' : next}; Path=${path}; SameSite=Strict`
            + `; Max-Age=${isSystem ? 0 : 31536000}`;
    }

    // ------------------------------------------------------------------------------------------

    for (const section of all('main section[id]')) had.set(section.id, rowsOf(section));
    localise(document);
    setInterval(count, 1000);
    const zone = one('span.zone');
    if (zone) write(zone, Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time');
    for (const button of all('button.scheme')) {
        button.hidden = false;
        button.addEventListener('click', switchScheme);
    }
    for (const button of all('button.keys')) {
        button.hidden = false;
        button.addEventListener('click', help);
    }
    document.addEventListener('keydown', press);
    if (stream && typeof htmx !== 'undefined') {
        listen();
        adjust();
    }
})();
