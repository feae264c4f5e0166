// A table or a program wider than a phone scrolls by itself: a keyboard must be able to reach it.
addEventListener("load", () => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
    wrap.tabIndex = 0;
    wrap.setAttribute("role", "group");
    wrap.setAttribute("aria-label", "Table");
  }
  for (const code of document.querySelectorAll("pre > code")) {
    if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
  }
});
