// @vitest-environment happy-dom
/** `hedgerow/angular`, in an application with zones. */
import 'zone.js';
import '@angular/compiler';
import { NgZone, provideZoneChangeDetection } from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { expect, it } from 'vitest';
import { angularOf } from './angular-page.js';
import { behaves } from './suite.js';

const zones = provideZoneChangeDetection();

it('has zones', async () => {
  const app = await createApplication({ providers: [zones] });
  expect(app.injector.get(NgZone).run(() => NgZone.isInAngularZone())).toBe(true);
  app.destroy();
});

behaves(angularOf('Angular with zones', [zones]));
