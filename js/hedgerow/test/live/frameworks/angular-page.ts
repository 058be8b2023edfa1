/** Mounts components of Angular, whose templates are compiled at run time. */
import '@angular/compiler';
import {
  type ApplicationRef,
  Component,
  type ComponentRef,
  createComponent,
  type EnvironmentProviders,
  effect,
  InjectionToken,
  Injector,
  inject,
  type Signal,
  signal,
} from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import {
  injectConnection,
  injectLive,
  injectLiveCount,
  injectLiveRow,
} from '../../../src/live/frameworks/angular.js';
import type { Call, Framework, State } from './framework.js';

type Use = (...args: unknown[]) => Signal<State>;
export const USE = {
  rows: injectLive,
  row: injectLiveRow,
  count: injectLiveCount,
  connection: injectConnection,
} as unknown as Record<Call, Use>;

interface Asked {
  readonly call: Call;
  readonly args: () => unknown[];
  readonly noted: State[];
}
const ASKED = new InjectionToken<Asked>('asked');

class Shown {
  readonly asked = inject(ASKED);
  readonly state = USE[this.asked.call](...[0, 1].map((at) => () => this.asked.args()[at]));
  readonly noting = effect(() => void this.asked.noted.push(this.state()));

  text(): string {
    return JSON.stringify(this.state());
  }
}
const ShownComponent = Component({ selector: 'app-shown', template: '<p>{{ text() }}</p>' })(Shown);

const components = new Set<ComponentRef<unknown>>();
let app: ApplicationRef | undefined;

export const angularOf = (name: string, providers: EnvironmentProviders[] = []): Framework => ({
  name,
  clear() {
    for (const component of components) component.destroy();
    components.clear();
  },
  async mount(call, ...first) {
    app ??= await createApplication({ providers });
    const noted: State[] = [];
    const args = signal(first);
    const hostElement = document.createElement('div');
    const elementInjector = Injector.create({
      providers: [{ provide: ASKED, useValue: { call, args, noted } }],
      parent: app.injector,
    });
    const own = { environmentInjector: app.injector, elementInjector, hostElement };
    const component = createComponent(ShownComponent, own);
    components.add(component);
    app.attachView(component.hostView);
    component.changeDetectorRef.detectChanges();
    return {
      states: noted,
      text: () => hostElement.textContent ?? '',
      set: (...next) => args.set(next),
      unmount() {
        components.delete(component);
        component.destroy();
      },
    };
  },
});
