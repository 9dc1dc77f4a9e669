import { describeDeaths } from './component-deaths.ts';

describeDeaths('messages');
