// The page's scripts run in the browser, each in a function of its own, and share the object `lens`.
import js from '@eslint/js';
import globals from 'globals';

export default [
  js.configs.recommended,
  {
    files: ['src/wfalens/report/static/*.js', 'src/wfalens/export/runtime/*.js'],
    languageOptions: { ecmaVersion: 2022, sourceType: 'script', globals: { ...globals.browser, lens: 'readonly' } },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-control-regex': 'off', // dom.js and runtime.js look for control characters
    },
  },
];
