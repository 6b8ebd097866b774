-- The errors of the lake. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- The table is not in the catalogue of the lake.
    'OM020', 'UnknownLakeTable', 'there is no lake table {table_code}',
    'SELECT table_code FROM omd_report.lake_tables; or CALL '
    'omd_lake.register_table({table_code_literal}, ''…/metadata.json'');'
),
(
    -- Nothing is kept of the table as of that moment.
    'OM021', 'NothingKept', 'nothing is kept of {table_code} as of {as_of}',
    'SELECT commit_datetime FROM omd_report.lake_commits WHERE table_code = {table_code_literal} '
    'ORDER BY 1;'
),
(
    -- A commit is malformed, or its table was not opened in this transaction.
    'OM022', 'InvalidCommit', 'the commit{of_table} is not accepted: {problem}',
    'Open the tables first, in the same transaction; the COMMENT of omd_lake.commit_tables says '
    'what a commit is.'
),
(
    -- The table has moved on since the commit was staged.
    'OM120', 'LakeConflict',
    '{table_code} has moved on since {from}; now {metadata_location} holds',
    'Open the commit again, and stage what you write on the present metadata file.'
),
(
    -- The files in a folder were committed, or their run still executes.
    'OM121', 'FolderInUse', 'the folder {folder} is in use: {problem}',
    'SELECT * FROM omd_report.lake_folders WHERE module_instance_id = {module_instance_id};'
),
(
    -- Runs that stand have written to the table, and it is gone or renamed in the catalogue.
    'OM122', 'LakeTableGone',
    'the run {module_instance_id} has written to {table_code}, and it is gone{now_named}',
    '{way_out}'
),
(
    -- The namespace of the table is not registered.
    'OM220', 'UnknownNamespace', 'the namespace {namespace} of {table_code} has no location',
    'CALL omd_lake.register_namespace({namespace_literal}, ''/path/or/uri'');'
),
(
    -- Modules load the table in several formats.
    'OM221', 'AmbiguousFormat', 'Modules load {table_code} in several formats: {formats}',
    'Name the format; SELECT module_code, platform_code, table_format_code FROM omd.module WHERE '
    'table_code = {table_code_literal};'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
