// Compiles the templates in the browser, without a build step of Angular's own.
import '@angular/compiler';
import { Component, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { injectLive, injectLiveCount } from 'hedgerow/angular';
import { add, type Issue, issuesOf, openIssues, toggle } from '../common/issues.js';
import { frame } from '../common/page.js';
import { countText, emptyText, errorText, FILTERS, type Filter, timeText } from '../common/text.js';

@Component({
  selector: 'issue-list',
  template: `
    <section aria-label="Issues" [attr.aria-busy]="list().isStale">
      <fieldset>
        <legend>Show</legend>
        @for (name of filters; track name) {
          <label>
            <input type="radio" name="filter" [checked]="name === filter()" (change)="filter.set(name)" />
            {{ name }}
          </label>
        }
      </fieldset>
      <ul>
        @for (issue of list().rows; track issue.id) {
          <li>
            <button
              type="button"
              role="checkbox"
              [attr.aria-checked]="issue.state === 'closed'"
              (click)="toggle(issue)"
            >
              {{ issue.title }}
            </button>
            <time>{{ timeText(issue.modified) }}</time>
          </li>
        }
      </ul>
      <p class="hint">{{ emptyText(list().status, list().rows, filter()) }}</p>
      <p role="alert">{{ failure() || errorText(list().error) }}</p>
    </section>
  `,
})
class IssueList {
  readonly filter = signal<Filter>('open');
  readonly failure = signal('');
  readonly list = injectLive(() => issuesOf(this.filter()));
  readonly filters = FILTERS;
  readonly emptyText = emptyText;
  readonly errorText = errorText;
  readonly timeText = timeText;

  async toggle(issue: Issue) {
    this.failure.set(await toggle(issue));
  }
}

@Component({
  selector: '#app',
  imports: [IssueList],
  template: `
    <header>
      <h1>Issues</h1>
      <p class="count">{{ countText(open().count) }}</p>
      <button type="button" (click)="isShown.set(!isShown())">
        {{ isShown() ? 'Hide the list' : 'Show the list' }}
      </button>
    </header>
    <form class="line" (submit)="submit($event)">
      <input name="title" autocomplete="off" aria-label="New issue" placeholder="What is to be done?" />
      <button type="submit">Add</button>
    </form>
    <p role="alert">{{ failure() || errorText(open().error) }}</p>
    @if (isShown()) {
      <issue-list />
    }
  `,
})
class App {
  readonly open = injectLiveCount(openIssues);
  readonly failure = signal('');
  readonly isShown = signal(true);
  readonly countText = countText;
  readonly errorText = errorText;

  async submit(event: SubmitEvent) {
    event.preventDefault();
    this.failure.set(await add(event.currentTarget as HTMLFormElement));
  }
}

await bootstrapApplication(App);
await frame('angular');
