"""A headless Chromium, and pages in it that may do nothing but show themselves."""

import os

import pytest
from playwright.sync_api import sync_playwright

from page import page as assemble


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        # Root needs --no-sandbox.
        started = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
        yield started
        started.close()


class Opener:
    """Opens pages, and records what they must not do."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.contexts, self.complaints = [], []

    def write(self, report, name="report.html"):
        """Writes the page of a report."""
        path = self.folder / name
        path.write_text(assemble(report), encoding="utf-8", errors="surrogatepass")
        return path

    def open(self, page, fragment="", **options):
        """Opens the page of a report, or of a file."""
        path = self.write(page) if isinstance(page, dict) else page
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(10_000)
        self.contexts.append(context)
        opened = context.new_page()
        address = path.as_uri()

        def request(request):
            if request.url.split("#")[0] not in (address, "about:blank") and not request.url.startswith("blob:"):
                self.complaints.append(f"requests {request.url}")

        def console(message):
            if message.type in ("error", "warning"):
                self.complaints.append(f"logs {message.text}")

        def dialog(dialog):
            self.complaints.append(f"opens {dialog.message}")
            dialog.dismiss()

        context.on("request", request)
        context.on("page", lambda page: page is opened or self.complaints.append(f"opens {page.url}"))
        opened.on("console", console)
        opened.on("pageerror", lambda error: self.complaints.append(f"throws {error}"))
        opened.on("dialog", dialog)
        opened.goto(address + fragment)
        return opened

    def close(self):
        for context in self.contexts:
            context.close()


@pytest.fixture
def opener(browser, tmp_path):
    """Opens pages; the test fails if one logs an error, asks for anything, or opens a dialog."""
    opened = Opener(browser, tmp_path)
    yield opened
    opened.close()
    assert opened.complaints == []
