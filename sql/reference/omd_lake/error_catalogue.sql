-- The errors of the lake. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- The table is not in the catalogue of the lake. For example: the name of the table was
    -- mistyped, or nobody has written the table yet.
    'OM020', 'UnknownLakeTable', 'there is no lake table {table_code}',
    'SELECT table_code FROM omd_report.lake_tables; or CALL '
    'omd_lake.register_table({table_code_literal}, ''…/metadata.json'');'
),
(
    -- Nothing is kept of the table as of that moment. For example: a table is read as of last year,
    -- and its snapshots of that time have expired.
    'OM021', 'NothingKept', 'nothing is kept of {table_code} as of {as_of}',
    'SELECT commit_datetime FROM omd_report.lake_commits WHERE table_code = {table_code_literal} '
    'ORDER BY 1;'
),
(
    -- A commit is malformed, or its table was not opened in this transaction. For example: a
    -- program stages a commit in one transaction, and commits it in another one.
    'OM022', 'InvalidCommit', 'the commit{of_table} is not accepted: {problem}',
    'Open the tables first, in the same transaction; the COMMENT of omd_lake.commit_tables says '
    'what a commit is.'
),
(
    -- The table has moved on since the commit was staged. For example: two runs write the same
    -- table, and the other one was faster.
    'OM120', 'LakeConflict',
    '{table_code} has moved on since {from}; now {metadata_location} holds',
    'Open the commit again, and stage what you write on the present metadata file.'
),
(
    -- The files in a folder were committed, or their run still executes. For example: files are to
    -- be removed whose run was committed a moment ago.
    'OM121', 'FolderInUse', 'the folder {folder} is in use: {problem}',
    'SELECT * FROM omd_report.lake_folders WHERE module_instance_id = {module_instance_id};'
),
(
    -- Runs that stand have written to the table, and it is gone or renamed in the catalogue. For
    -- example: another engine has dropped the table in a catalogue of its own.
    'OM122', 'LakeTableGone',
    'the run {module_instance_id} has written to {table_code}, and it is gone{now_named}',
    '{way_out}'
),
(
    -- The files that Spark wrote can't become part of the table. For example: a file has other
    -- columns than the table, or other rows than Spark has counted.
    'OM123', 'LakeFilesUnfit', '{path}: {problem}',
    'The run has failed, and nothing of it stays; run it again.'
),
(
    -- Files of a table that may hold erased keys can't be removed. For example: a branch or tag
    -- keeps a snapshot that has the erased rows.
    'OM124', 'KeysLeft', '{table_code}: {problem}',
    'Drop the branches and tags of the table, and finish the erasure again.'
),
(
    -- The namespace of the table is not registered. For example: a Module writes to
    -- lake.sales.orders before its namespace has a location.
    'OM220', 'UnknownNamespace', 'the namespace {namespace} of {table_code} has no location',
    'CALL omd_lake.register_namespace({namespace_literal}, ''/path/or/uri'');'
),
(
    -- Modules load the table in several formats. For example: one Module loads the table as
    -- Iceberg, and another one as Delta.
    'OM221', 'AmbiguousFormat', 'Modules load {table_code} in several formats: {formats}',
    'Name the format; SELECT module_code, platform_code, table_format_code FROM omd.module WHERE '
    'table_code = {table_code_literal};'
),
(
    -- The table uses a feature without which its rows can't be read correctly. For example: another
    -- engine has written delete files, or a format version that is newer.
    'OM222', 'LakeTableUnreadable', '{table_code} can''t be read: {problem}',
    'Rewrite the table with the engine that has written it, so that it needs no such feature.'
),
(
    -- The configuration of pyiceberg has no such catalogue, or it can't be used. For example: the
    -- name of the catalogue is not in .pyiceberg.yaml of this machine.
    'OM223', 'UnknownCatalog', 'the catalogue {catalog} can''t be used: {problem}',
    'Set PYICEBERG_CATALOG__…, or enter it in .pyiceberg.yaml, wherever runs are started.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
