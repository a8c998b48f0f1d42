"use strict";
(function () {
  function make(tag, text, parent) {
    var element = document.createElement(tag);
    element.textContent = text;
    parent.appendChild(element);
    return element;
  }
  function rowsOf(body) {
    return Array.from(body.querySelectorAll("tr:not(.heading)"));
  }
  function valueOf(row, place) {
    var cell = row.children[place];
    var number = cell.dataset.value || cell.textContent.trim();
    return number !== "" && isFinite(number) ? Number(number) : cell.textContent.trim();
  }
  // Numbers before words; words by the alphabet; equal values keep their order.
  function before(a, b) {
    if (typeof a === typeof b) { return typeof a === "number" ? a - b : a.localeCompare(b); }
    return typeof a === "number" ? -1 : 1;
  }
  // Rows are sorted within their block: blocks hold what may be compared.
  function sortRows(table, heading, place) {
    var falls = heading.getAttribute("aria-sort") !== "descending" && place > 0;
    table.querySelectorAll("[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", falls ? "descending" : "ascending");
    table.querySelectorAll("tbody").forEach(function (body) {
      rowsOf(body).sort(function (a, b) {
        var left = valueOf(a, place), right = valueOf(b, place);
        var order = before(left, right);
        return falls && typeof left === "number" && typeof right === "number" ? -order : order;
      }).forEach(function (row) { body.appendChild(row); });
    });
  }
  function addSorting(table) {
    if (!Array.from(table.tBodies).some(function (body) { return rowsOf(body).length > 1; })) { return; }
    table.querySelectorAll(".columns th").forEach(function (heading, place) {
      var text = heading.textContent;
      heading.textContent = "";
      var button = make("button", text, heading);
      button.type = "button";
      button.title = "Sort by " + text;
      button.addEventListener("click", function () { sortRows(table, heading, place); });
    });
  }
  function addFolding(table) {
    var first = 1;
    table.querySelectorAll("thead th[scope=colgroup]").forEach(function (heading) {
      var start = first, width = heading.colSpan, text = heading.textContent;
      first += width;
      if (width < 3 || !text) { return; }
      heading.textContent = "";
      var button = make("button", text, heading);
      button.type = "button";
      button.title = "Show the first column of this group only, or all";
      button.setAttribute("aria-expanded", "true");
      button.addEventListener("click", function () {
        var folds = heading.colSpan > 1;
        button.setAttribute("aria-expanded", String(!folds));
        heading.colSpan = folds ? 1 : width;
        table.querySelectorAll("tr.columns, tbody tr:not(.heading)").forEach(function (row) {
          for (var place = start + 1; place < start + width; place += 1) { row.children[place].hidden = folds; }
        });
      });
    });
  }
  function addFilter(table) {
    var rows = Array.from(table.querySelectorAll("tbody tr:not(.heading)"));
    if (rows.length < 6) { return; }
    var holder = document.createElement("div");
    holder.className = "filter";
    var corner = table.querySelector(".columns th").textContent;
    var label = make("label", "Filter by " + corner.toLowerCase() + " ", holder);
    var input = make("input", "", label);
    input.type = "search";
    var status = make("span", "", holder);
    status.setAttribute("role", "status");
    table.parentElement.before(holder);
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      rows.forEach(function (row) {
        var name = row.children[0].textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return name.includes(word); });
        shown += row.hidden ? 0 : 1;
      });
      Array.from(table.tBodies).forEach(function (body) {
        body.hidden = rowsOf(body).every(function (row) { return row.hidden; });
      });
      status.textContent = shown + " of " + rows.length + " rows";
    });
  }
  document.querySelectorAll(".table table").forEach(function (table) {
    addFilter(table);
    addFolding(table);
    addSorting(table);
  });

  var cells = document.querySelectorAll("details.cell");
  var filters = Array.from(document.querySelectorAll("[data-filter]"));
  function filterCells() {
    var shown = 0;
    cells.forEach(function (cell) {
      cell.hidden = filters.some(function (filter) {
        return filter.value !== "" && cell.dataset[filter.dataset.filter] !== filter.value;
      });
      shown += cell.hidden ? 0 : 1;
    });
    document.getElementById("cell-count").textContent = shown + " of " + cells.length + " cells";
  }
  document.getElementById("cell-filters").hidden = false;
  filters.forEach(function (filter) { filter.addEventListener("change", filterCells); });

  var parts = Array.from(document.querySelectorAll("details.part"));
  var contents = document.getElementById("contents");
  // A link leads into a closed section, too.
  function follow() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) { return; }
    var part = target.closest("details.part") || target.querySelector("details.part");
    if (part) { part.open = true; }
    contents.open = false;
    target.scrollIntoView();
  }
  document.querySelectorAll("a[href^='#']").forEach(function (link) {
    link.addEventListener("click", function () { setTimeout(follow, 0); });
  });
  window.addEventListener("hashchange", follow);
  follow();
  var all = document.getElementById("open-all");
  all.hidden = false;
  all.addEventListener("click", function () {
    var opens = parts.some(function (part) { return !part.open; });
    parts.forEach(function (part) { part.open = opens; });
    all.textContent = opens ? "Close all sections" : "Open all sections";
  });
  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = parts.filter(function (part) { return !part.open; });
    closed.forEach(function (part) { part.open = true; });
  });
  window.addEventListener("afterprint", function () {
    closed.forEach(function (part) { part.open = false; });
  });
})();
