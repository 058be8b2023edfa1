"""A WebKitGTK browser on a profile on disk, or a private one, driven by lines of JSON on stdin and stdout.

Commands: {id, do: "new"} -> page, {id, do: "goto", page, url}, {id, do: "evaluate", page, body} -> text,
{id, do: "close", page}, {id, do: "quit"}. Answers: {id, value} or {id, error}. The text of a page's
report(text) comes as {page, report}.
"""
import json
import os
import sys
import threading

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2

profile, quota, preload, is_private = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4] == "private"
options = {"base_data_directory": profile, "base_cache_directory": os.path.join(profile, "cache")}
if quota > 0:
    disk = os.statvfs(profile)
    ratio = quota / (disk.f_blocks * disk.f_frsize)
    options.update(origin_storage_ratio=ratio, total_storage_ratio=ratio)
if is_private:
    context = WebKit2.WebContext.new_ephemeral()
else:
    context = WebKit2.WebContext(website_data_manager=WebKit2.WebsiteDataManager(**options))
pages = {}


def say(**message):
    print(json.dumps(message), flush=True)


def new(id, **_):
    page = id
    content = WebKit2.UserContentManager()
    content.register_script_message_handler("report")
    content.connect(
        "script-message-received::report",
        lambda _, result: say(page=page, report=result.get_js_value().to_string()),
    )
    at = (WebKit2.UserContentInjectedFrames.TOP_FRAME, WebKit2.UserScriptInjectionTime.START)
    content.add_script(WebKit2.UserScript.new(preload, *at, None, None))
    view = WebKit2.WebView(web_context=context, user_content_manager=content)
    view.connect("web-process-terminated", lambda *_: say(page=page, gone=True))
    window = Gtk.Window()
    window.add(view)
    window.show_all()
    pages[page] = (view, window)
    say(id=id, value=page)


def goto(id, page, url, **_):
    view = pages[page][0]
    handlers = []

    def done(**answer):
        while handlers:
            view.disconnect(handlers.pop())
        say(id=id, **answer)

    def changed(_, event):
        if event == WebKit2.LoadEvent.FINISHED:
            done(value=None)

    handlers.append(view.connect("load-changed", changed))
    handlers.append(view.connect("load-failed", lambda _, __, ___, e: done(error=e.message)))
    view.load_uri(url)


def evaluate(id, page, body, **_):
    def done(view, result):
        try:
            value = view.call_async_javascript_function_finish(result)
            say(id=id, value=value.to_string())
        except GLib.Error as error:
            say(id=id, error=error.message)

    pages[page][0].call_async_javascript_function(body, -1, None, None, None, None, done)


def close(id, page, **_):
    view, window = pages.pop(page)
    view.try_close()
    window.destroy()
    say(id=id, value=None)


def quit(id, **_):
    for _, window in pages.values():
        window.destroy()
    Gtk.main_quit()


commands = {f.__name__: f for f in (new, goto, evaluate, close, quit)}


def take(line):
    command = json.loads(line)
    try:
        commands[command["do"]](**command)
    except Exception as error:
        say(id=command["id"], error=repr(error))


def listen():
    for line in sys.stdin:
        GLib.idle_add(take, line)
    GLib.idle_add(Gtk.main_quit)


threading.Thread(target=listen, daemon=True).start()
version = ".".join(str(f()) for f in (WebKit2.get_major_version, WebKit2.get_minor_version, WebKit2.get_micro_version))
say(ready=version)
Gtk.main()
