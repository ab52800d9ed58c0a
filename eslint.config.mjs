import tseslint from 'typescript-eslint';

const promises = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  'no-async-promise-executor': 'error',
  'require-atomic-updates': 'off',
};

const types = {
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true },
  ],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/restrict-plus-operands': 'error',
  '@typescript-eslint/no-base-to-string': 'error',
  '@typescript-eslint/ban-ts-comment': 'error',
};

const habits = {
  eqeqeq: 'error',
  'no-console': 'error',
  'no-control-regex': 'error',
  'no-constant-condition': ['error', { checkLoops: 'allExceptWhileTrue' }],
  'no-empty': 'error',
  'no-param-reassign': 'error',
  'no-unused-expressions': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
};

export default tseslint.config(
  {
    ignores: [
      '.vscode-test/',
      'dist/',
      'examples/',
      'media/',
      'node_modules/',
      'out/',
      'test-output/',
    ],
  },
  {
    files: ['**/*.{ts,mts}'],
    extends: [tseslint.configs.base],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: { ...promises, ...types, ...habits },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A test says what is there by indexing, and a failure of it is a failing test.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Matchers such as expect.any() are typed so.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      'no-console': 'off',
    },
  },
  {
    files: ['**/*.{mjs,cjs,js}'],
    rules: habits,
  },
);
