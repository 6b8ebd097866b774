-- The errors of facts. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    'OM153', 'LoadNotUndone', 'load {module_instance_id} can''t be undone: {problem}',
    'SELECT * FROM omd_report.facts_loads;'
),
(
    'OM250', 'InvalidFacts', '"facts" of entity "{entity_code}": {problem}',
    'Mend the model: see docs/explanation/facts.md.'
),
(
    'OM251', 'FactsNotDeployed', 'the facts of interface "{interface_code}": {problem}',
    'CALL omd_facts.deploy({interface_code_literal});'
),
(
    'OM252', 'FactsWouldChange', '{object} of interface "{interface_code}": {problem}',
    'Give what is new a name of its own, or keep the model as it was.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
