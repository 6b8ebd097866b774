// A dialog shows what it would send while one types. Without this file the button shows it first,
// and sends it when it is pressed again; the page sends nothing else than what a form has shown.
(() => {
  "use strict";

  const form = document.querySelector("form[data-dialog]");
  if (form) {
    // What the shown text was made of: all fields but the token and the key that confirms.
    const typed = () => {
      const fields = new URLSearchParams();
      for (const [name, value] of new FormData(form)) {
        if (name === "reason" || name.startsWith("p_")) fields.append(name, value);
      }
      return fields;
    };
    const ofCall = (fields) => {
      const rest = new URLSearchParams(fields);
      rest.delete("reason");
      return rest.toString();
    };
    let shown = typed();
    let asking = null;
    let timer = 0;

    // Ask what the typed text means; true when the form shows it now, null when it was asked anew.
    const show = async () => {
      clearTimeout(timer);
      if (asking) asking.abort();
      asking = new AbortController();
      const fields = typed();
      const query = new URLSearchParams(fields);
      // A reason changes the text only; nothing has to be tried again.
      if (ofCall(fields) === ofCall(shown)) query.set("part", "statement");
      try {
        const asked = new URL(form.action);
        for (const [name, value] of query) asked.searchParams.append(name, value);
        const answer = await fetch(asked, { signal: asking.signal });
        if (!answer.ok) return false;
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelector("form[data-dialog]");
        if (!fresh || typed().toString() !== fields.toString()) return false;
        const there = form.querySelector("#shown");
        const next = fresh.querySelector("#shown");
        const tried = there.querySelector("[data-tried]");
        there.replaceChildren(...next.childNodes);
        const empty = there.querySelector("[data-tried]");
        if (query.has("part") && tried && empty) empty.replaceWith(tried);
        form.elements.form.value = fresh.elements.form.value;
        const button = form.querySelector("button[type=submit]");
        const other = fresh.querySelector("button[type=submit]");
        button.textContent = other.textContent;
        button.disabled = other.disabled;
        shown = fields;
        return true;
      } catch (error) {
        if (error.name !== "AbortError") return false;
        return null;
      }
    };

    form.addEventListener("input", () => {
      clearTimeout(timer);
      if (typed().toString() !== shown.toString()) timer = setTimeout(show, 150);
    });

    let sends = false;
    form.addEventListener("submit", async (event) => {
      if (event.submitter && event.submitter.name === "try") return;
      if (sends) {
        event.preventDefault(); // a second click
      } else if (typed().toString() !== shown.toString()) {
        event.preventDefault();
        const isShown = await show();
        if (isShown === null) return; // something newer asks
        if (isShown) {
          // The new text is on the screen before it is sent.
          requestAnimationFrame(() => form.requestSubmit(form.querySelector("button[type=submit]")));
        } else {
          sends = true;
          form.submit(); // the page itself says what is wrong
        }
      } else {
        sends = true;
      }
    });
    // A page that comes back from the browser's memory may be sent, and has a token of the past.
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) window.location.reload();
    });
  }

  // The way back from a dialog leads to the page and the link from which it was opened. Who was sent
  // elsewhere by the page itself (what was done is said on a page of its own) comes back there too.
  const OPENED = "omd.opened";
  const inside = document.querySelector("main .dialog");
  const here = window.location.pathname + window.location.search + window.location.hash;
  const opened = () => {
    try {
      return JSON.parse(sessionStorage.getItem(OPENED)) || {};
    } catch {
      return {};
    }
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-action]");
    if (!link) return;
    const entry = { path: link.pathname, href: link.getAttribute("href"), from: here };
    sessionStorage.setItem(OPENED, JSON.stringify(entry));
  });
  if (inside) {
    const its = opened();
    const back = [...inside.querySelectorAll("a")].filter((a) => a.textContent === "Back").at(-1);
    if (back && its.path === window.location.pathname) back.setAttribute("href", its.from);
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
      if (back) back.click();
    });
  }
  // Also a page that comes back from the browser's memory.
  window.addEventListener("pageshow", () => {
    const its = opened();
    if (inside || its.from !== here) return;
    sessionStorage.removeItem(OPENED);
    const link = [...document.querySelectorAll("a[data-action]")].find(
      (a) => a.getAttribute("href") === its.href,
    );
    if (link) link.focus();
  });

  const progress = () => document.querySelector("#progress[data-doing=AT_WORK]");
  const look = async () => {
    if (progress() && !document.hidden && document.body.dataset.live !== "paused") {
      try {
        const answer = await fetch("?part=progress");
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelector("#progress");
        if (answer.ok && fresh && progress()) {
          if (fresh.dataset.doing === "AT_WORK") progress().replaceWith(fresh);
          else window.location.reload();
        }
      } catch {
        // The page is gone for a moment; it is asked again.
      }
    }
    if (progress()) setTimeout(look, 1000);
  };
  if (progress()) setTimeout(look, 1000);
})();
