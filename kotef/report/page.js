"use strict";
(() => {
  const known = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const each = (where, what) => Array.from(document.querySelectorAll(where), what);
  const CHUNK = 200;

  // The rows of the matrix that are not in the page yet.
  const later = known.groups.flatMap(([cells, marks, trend, names]) => names.map((name) => ({ cells, marks, trend, name })));
  const place = byId("later"), more = byId("more"), filter = byId("filter"), found = byId("found");
  let shown = 0;
  const element = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const drawn = (row) => {
    const line = element("tr"), head = element("th"), cut = row.name.indexOf("::");
    head.scope = "row";
    if (cut >= 0) head.append(element("span", row.name.slice(0, cut + 2), "soft"));
    head.append(element("span", cut < 0 ? row.name : row.name.slice(cut + 2)));
    if (row.trend) head.append(element("span", row.trend, "tag"));
    line.append(head);
    known.visits.forEach((visit, at) => {
      const letter = row.cells[at], mark = row.marks[at], [sign, said] = known.statuses[letter];
      const cell = element("td", sign, "c-" + (letter === " " ? "none" : letter));
      const beside = known.marks[mark];
      cell.title = (visit ? "attempt " + visit : "before the run") + ": " + said + (beside ? ", " + beside[1] : "");
      if (beside) cell.append(element("sup", beside[0]));
      line.append(cell);
    });
    return line;
  };
  const draw = (rows) => {
    const made = document.createDocumentFragment();
    for (const row of rows) made.append(drawn(row));
    place.append(made);
  };
  const label = () => {
    const left = later.length - shown;
    more.hidden = left === 0;
    more.textContent = shown ? `Show ${Math.min(CHUNK, left)} more of ${left}` : left > CHUNK ? `Show the first ${CHUNK} of ${left}` : "Show them";
  };
  const next = () => {
    draw(later.slice(shown, shown + CHUNK));
    shown = Math.min(later.length, shown + CHUNK);
    label();
  };
  if (more) {
    more.addEventListener("click", next);
    label();
  }
  const find = () => {
    const wanted = filter.value.trim().toLowerCase();
    let kept = 0;
    for (const row of byId("drawn").rows) {
      row.hidden = wanted !== "" && !row.dataset.name.toLowerCase().includes(wanted);
      kept += !row.hidden;
    }
    place.replaceChildren();
    if (wanted === "") {
      draw(later.slice(0, shown));
      found.textContent = "";
      if (more) label();
      return;
    }
    const matching = later.filter((row) => row.name.toLowerCase().includes(wanted));
    draw(matching.slice(0, CHUNK));
    if (more) more.hidden = true;
    const all = kept + matching.length, seen = kept + Math.min(CHUNK, matching.length);
    found.textContent = all > seen ? `${all} found, ${seen} shown` : `${all} found`;
  };
  if (filter) {
    byId("filtering").hidden = false;
    filter.addEventListener("input", find);
  }

  // Folds: all at once, for printing, and where a link leads.
  const folds = () => each("details", (one) => one);
  const all = byId("all");
  const toggle = () => {
    const open = folds().some((one) => !one.open);
    for (const one of folds()) one.open = open;
    all.textContent = open ? "Close all" : "Open all";
  };
  all.hidden = false;
  all.addEventListener("click", toggle);
  let before = [];
  addEventListener("beforeprint", () => {
    before = folds().filter((one) => !one.open);
    for (const one of before) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of before) one.open = false;
  });
  const follow = () => {
    const target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  each('a[href^="#attempt-"]', (link) => link.addEventListener("click", () => setTimeout(follow)));

  // Commands can be copied.
  each(".command", (box) => {
    const button = element("button", "Copy", "small");
    button.type = "button";
    button.setAttribute("aria-label", "Copy: " + box.firstElementChild.textContent);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(box.firstElementChild.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(box.firstElementChild);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    box.append(button);
  });

  // Keys.
  byId("keys").hidden = false;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter) {
      if (event.key === "Escape") {
        filter.value = "";
        find();
        filter.blur();
      }
      return;
    }
    if (event.key === "/" && filter) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "e") toggle();
    else if (event.key === "j" || event.key === "k") {
      const attempts = each(".attempt", (one) => one);
      const at = attempts.indexOf(document.activeElement.closest(".attempt"));
      const to = attempts[event.key === "j" ? Math.min(at + 1, attempts.length - 1) : at < 0 ? attempts.length - 1 : Math.max(at - 1, 0)];
      if (to) {
        to.open = true;
        to.firstElementChild.focus({ preventScroll: true });
        to.scrollIntoView();
      }
    }
  });

  // While the run is at work: again and again, with what is open and where one reads.
  const key = "kotef " + known.run;
  const names = () => folds().map((one, at) => one.id || at);
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) || "null");
    sessionStorage.removeItem(key);
    if (kept) {
      folds().forEach((one, at) => {
        const name = one.id || at;
        if (kept.names.includes(name)) one.open = kept.open.includes(name);
      });
      if (filter && kept.filter) {
        filter.value = kept.filter;
        find();
      }
      scrollTo(0, kept.y);
    } else follow();
  } catch {
    follow();
  }
  if (document.body.hasAttribute("data-reload")) {
    const old = () => Date.now() / 1000 - known.written;
    const again = () => {
      if (document.activeElement === filter || String(getSelection())) return setTimeout(again, 2000);
      try {
        const open = folds().map((one, at) => (one.open ? one.id || at : null)).filter((name) => name !== null);
        sessionStorage.setItem(key, JSON.stringify({ names: names(), open, y: scrollY, filter: filter ? filter.value : "" }));
      } catch {
        // without storage it reloads all the same
      }
      location.reload();
    };
    const minutes = Math.round(old() / 60);
    if (minutes >= 10) {
      byId("age").textContent = `Nothing new for ${minutes} minutes. If the run was killed, \`kotef report ${known.run} --open\` says so.`;
    }
    setTimeout(again, minutes >= 10 ? 60000 : 4000);
  }
})();
