// The repository is a workspace: packages are two folders up. An app of its own needs none of this, and takes
// `@react-native/metro-config` unchanged, which reads the condition `react-native` by itself.
const { join } = require('node:path');
const { getDefaultConfig, mergeConfig } = require('metro-config');

const root = join(__dirname, '..', '..');

module.exports = (async () =>
  mergeConfig(await getDefaultConfig(__dirname), {
    projectRoot: __dirname,
    watchFolders: [join(root, 'node_modules'), join(root, 'js')],
    resolver: {
      nodeModulesPaths: [join(root, 'node_modules')],
      platforms: ['android', 'ios'],
      unstable_conditionNames: ['react-native'],
    },
    serializer: {
      getModulesRunBeforeMainModule: () => [
        require.resolve('react-native/Libraries/Core/InitializeCore'),
      ],
      getPolyfills: () => require('@react-native/js-polyfills')(),
    },
    transformer: { babelTransformerPath: require.resolve('@react-native/metro-babel-transformer') },
  }))();
